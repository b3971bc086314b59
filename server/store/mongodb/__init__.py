"""The database as a whole: opened, checked, migrated; and transactions on it."""
