//go:build !unix

package main

import "os"

// width is not known here: lines are as long as they are.
func width(*os.File) int { return 0 }
