// Calls the example service through types made of its OpenAPI document:
// node try.js URL APIKEY. It exits with 1 where something is not as documented.
import createClient from "openapi-fetch";
import type { components, paths } from "./payments.js";

type Payment = components["schemas"]["CreatePaymentResponse"];

const [url, apiKey] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${apiKey}` } });

function check(what: string, holds: boolean): void {
  if (!holds) {
    console.error(`not as documented: ${what}`);
    process.exit(1);
  }
}

// A payment, twice with one key.
const key = crypto.randomUUID();
const pay = () =>
  api.POST("/v1/payments", {
    params: { header: { "Idempotency-Key": key } },
    body: { order_id: key, amount: 1250, currency: "EUR" },
  });
const first = await pay();
const again = await pay();
const made: Payment | undefined = first.data;
check("a payment is made", first.response.status === 201 && made?.amount === 1250 && made.status === "authorized");
check("the retry is a replay", again.response.headers.get("Idempotent-Replayed") === "true" && again.data?.id === made?.id);

// The same intent under another key: a problem, with the payment that is there.
const conflict = await api.POST("/v1/payments", {
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  body: { order_id: key, amount: 1250, currency: "EUR" },
});
check("a conflict shows what is there", conflict.response.status === 409 && conflict.error?.code === "intent-conflict");

// Reads take no key; parameters are numbers.
const page = await api.GET("/v1/payments", { params: { query: { after: 0, limit: 1 } } });
check("a page has items", page.data?.items.length === 1);
const missing = await api.GET("/v1/payments/{id}", { params: { path: { id: 999999999 } } });
check("what is not there is a problem", missing.response.status === 404 && missing.error?.code === "no_such_payment");

// PATCH: null and absent differ.
await api.PUT("/v1/customers/{id}", { params: { path: { id: "ts" } }, body: { name: "Ada", email: "ada@example.com" } });
const patched = await api.PATCH("/v1/customers/{id}", {
  params: { path: { id: "ts" }, header: { "Idempotency-Key": crypto.randomUUID() } },
  body: { email: null },
});
check("null removes the address", patched.data?.email === null && patched.data.name === "Ada");
console.log("as documented");
