CREATE INDEX "builds_of_spec" ON "builds" USING btree ("spec_id");--> statement-breakpoint
CREATE INDEX "deployments_of_spec" ON "deployments" USING btree ("spec_id");--> statement-breakpoint
CREATE INDEX "runs_of_spec" ON "runs" USING btree ("spec_id");--> statement-breakpoint
CREATE INDEX "runs_retries" ON "runs" USING btree ("retry_of_id");