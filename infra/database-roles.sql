-- What the service's role may do: add rows to the audit trail and never change them, and read everything, so that it can back up.
-- The tables' owner runs this after the first migration; later tables get their rights by the default privileges.
grant usage on schema public to svc_service;
grant select, insert, update, delete on all tables in schema public to svc_service;
grant usage, select on all sequences in schema public to svc_service;
grant execute on function check_same_spec(integer, text, integer) to svc_service;
alter default privileges in schema public grant select, insert, update, delete on tables to svc_service;
alter default privileges in schema public grant usage, select on sequences to svc_service;
revoke update, delete on audit_log from svc_service;
revoke insert, update, delete on schema_migrations from svc_service;
