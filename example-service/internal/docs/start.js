// Shows /openapi.yaml. No validator: that would send the document elsewhere.
SwaggerUIBundle({
  url: "/openapi.yaml",
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
