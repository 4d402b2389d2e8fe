-- Audit rows and keychain entries are found by what they belong to.
CREATE INDEX noetl.audit_by_target ON audit (target);
CREATE INDEX noetl.audit_by_execution ON audit (execution_id)
WHERE execution_id IS NOT NULL;
CREATE INDEX noetl.keychain_by_execution ON keychain (execution_id)
WHERE execution_id IS NOT NULL;
