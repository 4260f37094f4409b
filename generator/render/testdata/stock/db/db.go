// Package db is a second package of that name.
package db

// Unit is an enum.
type Unit string
