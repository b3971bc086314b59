"""What all HTTP operations share: problems, queries, patches, entity tags, idempotency keys."""
