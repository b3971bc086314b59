"""The page about the API: a view of the OpenAPI document, and the page that is rendered of it."""
