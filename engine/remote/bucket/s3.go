package bucket

func openS3(address string, o Options) (Bucket, error) {
	return nil, &URLError{address, "no remote has such a URL", "Use the absolute path of a directory."}
}
