// Package status says how a project and its store are: what rewind status and the page's health show. It puts together what
// packages project, hook, maintain and stores know, and changes nothing.
package status
