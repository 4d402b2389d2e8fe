-- Values that workers keep for an execution are found by the part of their key that says which execution and which value.
CREATE INDEX noetl.object_by_tail ON object_store (substr(object_key, instr(object_key, '/execution=')), created_at)
WHERE instr(object_key, '/execution=') > 0;
