// Package db stands for what sqlc emits: the types that the cases use.
package db

// PaymentStatus is an enum.
type PaymentStatus string

// NullPaymentStatus is the same, nullable.
type NullPaymentStatus struct {
	PaymentStatus PaymentStatus
	Valid         bool
}
