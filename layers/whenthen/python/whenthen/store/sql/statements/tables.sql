-- Whole tables, whatever they are: a rebuild reads and writes all of them, on servers that nobody else uses meanwhile.

-- name: show_tables
SHOW TABLES

-- name: describe_table
DESCRIBE {table}

-- name: find_empty_key
-- It would come before all bounds.
SELECT {key} AS edge FROM {table} WHERE {key} = '' LIMIT 1

-- name: measure_rows
-- Pages of a table with a key have a lower bound and a LIMIT: then the server walks the key from the bound on and reads
-- the rows of the page alone. With an upper bound it would read the whole table.
SELECT {key} AS edge, OCTET_LENGTH(CONCAT({texts})) AS size FROM {table}
WHERE {key} > CAST(:after AS TEXT) ORDER BY {key} LIMIT :measured

-- name: read_rows_span
SELECT {columns} FROM {table} WHERE {key} > CAST(:after AS TEXT) ORDER BY {key} LIMIT :rows

-- name: write_rows_span
COPY (SELECT {columns} FROM {table} WHERE {key} > CAST(:after AS TEXT) ORDER BY {key} LIMIT :rows)
TO :file WITH (FORMAT PARQUET)

-- name: measure_segments
-- Of a columnar table two bounds, both bare: then the server skips the segments outside. With a CAST it reads them all.
SELECT {key} AS edge, OCTET_LENGTH(CONCAT({texts})) AS size FROM {table}
WHERE {key} > :after AND {key} <= :bound ORDER BY {key} LIMIT :measured

-- name: read_segments_span
SELECT {columns} FROM {table} WHERE {key} > :after AND {key} <= :edge ORDER BY {key}

-- name: write_segments_span
COPY (SELECT {columns} FROM {table} WHERE {key} > :after AND {key} <= :edge ORDER BY {key})
TO :file WITH (FORMAT PARQUET)

-- name: take_span
COPY {table} FROM :file WITH (FORMAT PARQUET)
