package main

func (b *bench) switchPart() error     { return nil }
func (b *bench) exportPart() error     { return nil }
func (b *bench) widePart() error       { return nil }
func (b *bench) dayPart() error        { return nil }
func (b *bench) transcriptPart() error { return nil }
func (b *bench) togetherPart() error   { return nil }
func (b *bench) verifyPart() error     { return nil }
func (b *bench) historyPart() error    { return nil }
