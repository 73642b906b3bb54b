// What answers each address of the table; each calls `done` of the call exactly once, or throws.
#pragma once

#include "front/server/http/routes/route.h"

namespace edict::server {

// ---- observations.cpp ----
void post_observations(const CallPointer& call);
void write_line_protocol(const CallPointer& call);

// ---- streams.cpp ----
void list_streams(const CallPointer& call);
void get_stream(const CallPointer& call);
void put_stream(const CallPointer& call);
void delete_stream(const CallPointer& call);

// ---- history.cpp ----
void get_history(const CallPointer& call);
void delete_observations(const CallPointer& call);

// ---- forecasts.cpp ----
void get_distribution(const CallPointer& call);
void get_trajectory(const CallPointer& call);
void list_trajectories(const CallPointer& call);

// ---- alarms.cpp ----
void list_alarms(const CallPointer& call);
void acknowledge_alarm(const CallPointer& call);
void get_rules(const CallPointer& call);
void put_rules(const CallPointer& call);
void answer_events(const CallPointer& call);

// ---- inference_protocol.cpp ----
void get_inference_model(const CallPointer& call);
void get_inference_ready(const CallPointer& call);
void infer(const CallPointer& call);

// ---- about.cpp ----
void get_page(const CallPointer& call);
void get_openapi(const CallPointer& call);
void get_model(const CallPointer& call);

// ---- operation.cpp ----
void get_livez(const CallPointer& call);
void get_readyz(const CallPointer& call);
void get_healthz(const CallPointer& call);
void get_metrics(const CallPointer& call);
void get_audit(const CallPointer& call);
void get_rejected(const CallPointer& call);
void post_backup(const CallPointer& call);

}  // namespace edict::server
