CREATE INDEX "build_shares_of_record" ON "build_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "deployment_shares_of_record" ON "deployment_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "run_shares_of_record" ON "run_shares" USING btree ("record_id","user_id");--> statement-breakpoint
CREATE INDEX "spec_shares_of_record" ON "spec_shares" USING btree ("record_id","user_id");