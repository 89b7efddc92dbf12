"""The table service: rows that an owner keeps in whenthen."""
