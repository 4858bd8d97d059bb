package scan

import (
	"sync"
	"sync/atomic"
)

// task is one step of the walk: a directory to list or to patch, or some of
// its entries to examine, or files to read, or to look at again, or a database in it.
type task struct {
	n        *node
	files    []int32 // entries to read; nil: the directory itself
	looks    []peek  // entries to examine; nil: not that
	fresh    []fresh // entries to look at once more at the end; nil: not that
	database string  // to compare with what is beside it; "": not that
}

// queue holds each worker's tasks. A worker takes its own newest one, so that
// it stays among neighbours, or else another's oldest, which is the biggest
// part of the tree.
type queue struct {
	mu    sync.Mutex
	ready sync.Cond
	tasks [][]task
	open  int // tasks not finished
	idle  int
	stop  *atomic.Bool
}

func newQueue(workers int, stop *atomic.Bool) *queue {
	q := &queue{tasks: make([][]task, workers), stop: stop}
	q.ready.L = &q.mu
	return q
}

// push adds tasks; the first of them will be taken first.
func (q *queue) push(worker int, list ...task) {
	if len(list) == 0 {
		return
	}
	q.mu.Lock()
	for i := len(list) - 1; i >= 0; i-- {
		q.tasks[worker] = append(q.tasks[worker], list[i])
	}
	q.open += len(list)
	if q.idle > 0 {
		q.ready.Broadcast()
	}
	q.mu.Unlock()
}

// take waits for a task. It is false when there will be no more.
func (q *queue) take(worker int) (task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.stop.Load() || q.open == 0 {
			return task{}, false
		}
		if own := q.tasks[worker]; len(own) > 0 {
			t := own[len(own)-1]
			own[len(own)-1] = task{}
			q.tasks[worker] = own[:len(own)-1]
			return t, true
		}
		for i := range q.tasks {
			other := q.tasks[(worker+i)%len(q.tasks)]
			if len(other) > 0 {
				t := other[0]
				other[0] = task{}
				q.tasks[(worker+i)%len(q.tasks)] = other[1:]
				return t, true
			}
		}
		q.idle++
		q.ready.Wait()
		q.idle--
	}
}

// done ends a task.
func (q *queue) done() {
	q.mu.Lock()
	q.open--
	if q.open == 0 {
		q.ready.Broadcast()
	}
	q.mu.Unlock()
}

// wake lets waiting workers see that the walk is stopped.
func (q *queue) wake() {
	q.mu.Lock()
	q.ready.Broadcast()
	q.mu.Unlock()
}
