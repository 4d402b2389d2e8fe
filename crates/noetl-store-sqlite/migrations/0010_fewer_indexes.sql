-- The index by path and status leads to the executions of a path as well.
DROP INDEX noetl.execution_by_path;
