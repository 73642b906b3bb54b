#include "front/server/http/openapi_schemas.h"

namespace edict::server {

// JSON Schema of everything that travels as JSON, by the names under which openapi.cpp refers to
// it. What may be missing where it does not apply is null, unless `required` leaves it out.
std::string_view openapi_schemas() {
  return R"json({
"Problem": {"type": "object", "required": ["title", "status", "detail"], "properties": {
  "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
  "detail": {"type": "string"}, "errors": {"type": "array", "items": {"$ref": "#/components/schemas/Error"}}}},
"Error": {"type": "object", "required": ["detail"], "properties": {
  "line": {"type": "integer", "description": "of the body, from 1; of an array the place in it"},
  "field": {"type": "string", "description": "values.HR, a column, or a parameter"},
  "detail": {"type": "string"}}},

"Description": {"type": "object", "required": ["openapi", "paths"]},
"Live": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
"Ready": {"type": "object", "required": ["status", "checks"], "properties": {
  "status": {"enum": ["ok", "failing"]},
  "checks": {"type": "object", "description": "of store and mqtt: ok, or what is wrong",
    "additionalProperties": {"type": "string"}}}},
"Health": {"type": "object", "required": ["status"], "properties": {
  "status": {"type": "string", "description": "ok, or which part fails"},
  "detail": {"type": "string", "description": "why it fails"},
  "streams": {"type": "integer"},
  "pending": {"type": "integer", "description": "values that were taken and not answered"},
  "uptime": {"type": "number", "description": "seconds"}}},

"Observation": {"type": "object", "required": ["stream", "time", "values"], "properties": {
  "stream": {"type": "string"},
  "time": {"type": ["number", "string"], "description": "on the stream's clock, or a date"},
  "values": {"type": "object", "additionalProperties": {"type": ["number", "null"]}}}},
"Observations": {"oneOf": [{"$ref": "#/components/schemas/Observation"},
  {"type": "array", "items": {"$ref": "#/components/schemas/Observation"}}]},
"Stored": {"type": "object", "required": ["stored", "unchanged", "corrected", "late", "refused"], "properties": {
  "stored": {"type": "integer", "description": "values that were new or corrected"},
  "unchanged": {"type": "integer", "description": "values that were known already"},
  "corrected": {"type": "integer", "description": "stored values that replaced another"},
  "late": {"type": "integer", "description": "stored values that lay before others of their stream"},
  "refused": {"type": "integer", "description": "values that were not stored"},
  "errors": {"type": "array", "description": "why, for the first 100 of them",
    "items": {"$ref": "#/components/schemas/Error"}}}},

"Model": {"type": "object", "required": ["name", "fingerprint", "features", "time"], "properties": {
  "name": {"type": "string"}, "fingerprint": {"type": "string"},
  "features": {"type": "array", "items": {"type": "object", "required": ["name", "mean", "deviation"], "properties": {
    "name": {"type": "string"}, "mean": {"type": "number"}, "deviation": {"type": "number"}}}},
  "statics": {"type": "array", "items": {"type": "string"}},
  "time": {"type": "object", "properties": {"kind": {"enum": ["unix", "number"]}, "unit": {"type": "string"},
    "seconds": {"type": ["number", "null"], "description": "in one unit; null where that is not known"}}},
  "duration": {"type": "object", "properties": {"unit": {"type": "string"}, "seconds": {"type": ["number", "null"]}}},
  "horizon": {"type": "number"}, "guard": {"type": "string"}, "level": {"type": "number"},
  "version": {"type": "string"}, "research": {"type": "string"}}},

"StreamSummary": {"type": "object", "required": ["id", "events", "alarms"], "properties": {
  "id": {"type": "string"}, "labels": {"type": "object"},
  "events": {"type": "integer"},
  "first": {"type": ["number", "null"], "description": "time of the first event"},
  "time": {"type": ["number", "null"], "description": "time of the newest event"},
  "received": {"type": ["number", "null"], "description": "when something came last, seconds since 1970"},
  "age": {"type": ["number", "null"], "description": "seconds since then"},
  "measured_age": {"type": ["number", "null"], "description": "seconds since the time of the newest value"},
  "urgency": {"type": "number", "description": "how soon to look at it; above 1 an alarm fires"},
  "why": {"type": ["object", "null"], "properties": {"feature": {"type": "string"}, "rule": {"type": "string"},
    "text": {"type": "string"}, "probability": {"type": "number"}}},
  "last": {"type": "object", "additionalProperties": {"type": "object", "required": ["time", "value"],
    "properties": {"time": {"type": "number"}, "value": {"type": "number"}}}},
  "alarms": {"type": "array", "items": {"$ref": "#/components/schemas/Alarm"}},
  "fault": {"type": ["string", "null"], "description": "why its newest events could not be absorbed"},
  "statics": {"type": "object", "additionalProperties": {"type": "number"}}}},
"Stream": {"$ref": "#/components/schemas/StreamSummary"},
"Streams": {"type": "object", "required": ["total", "streams"], "properties": {
  "total": {"type": "integer"},
  "streams": {"type": "array", "items": {"$ref": "#/components/schemas/StreamSummary"}}}},
"StreamAbout": {"type": "object", "properties": {
  "statics": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
  "labels": {"type": "object"},
  "origin": {"type": ["string", "number", "null"], "description": "the date, or Unix seconds, that dates are counted from"}}},

"Distribution": {"type": "object", "required": ["stream", "level", "since", "at"], "properties": {
  "stream": {"type": "string"}, "level": {"type": "number"},
  "since": {"type": "number", "description": "time of the newest event"},
  "at": {"type": "array", "items": {"type": "object", "required": ["time", "ahead", "features"], "properties": {
    "time": {"type": "number"}, "ahead": {"type": "number"},
    "features": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Marginal"}}}}},
  "crossing": {"type": "array", "items": {"type": "object", "required": ["feature", "within", "probability", "time"],
    "properties": {"feature": {"type": "string"}, "above": {"type": "number"}, "below": {"type": "number"},
      "within": {"type": "number"}, "probability": {"type": "number"},
      "time": {"type": "number", "description": "when it is most probable"}}}}}},
"Marginal": {"type": "object", "description": "a Student-t distribution",
  "required": ["mean", "aleatoric", "epistemic", "predictive", "scale", "dof", "lower", "upper"], "properties": {
  "mean": {"type": ["number", "null"]},
  "aleatoric": {"type": ["number", "null"], "description": "deviation of the data's noise"},
  "epistemic": {"type": ["number", "null"], "description": "deviation of what the model does not know"},
  "predictive": {"type": ["number", "null"], "description": "deviation of both"},
  "scale": {"type": ["number", "null"]}, "dof": {"type": ["number", "null"]},
  "lower": {"type": ["number", "null"]}, "upper": {"type": ["number", "null"]},
  "quantiles": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
  "above": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
  "below": {"type": "object", "additionalProperties": {"type": ["number", "null"]}}}},
"Trajectory": {"type": "object", "required": ["stream", "level", "last", "times", "features", "observations"], "properties": {
  "stream": {"type": "string"}, "level": {"type": "number"},
  "feature": {"type": "string", "description": "of a small chart, the one that says most"},
  "last": {"type": "number", "description": "time of the newest event"},
  "times": {"type": "array", "items": {"type": "number"}},
  "features": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties":
    {"type": "array", "items": {"type": ["number", "null"]}}}},
  "observations": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "object",
    "required": ["time", "value", "used", "clipped", "corrected", "expected"], "properties": {
      "time": {"type": "number"}, "value": {"type": "number"},
      "used": {"type": "number", "description": "what the guard made of it"},
      "clipped": {"type": "boolean"}, "corrected": {"type": "boolean"},
      "expected": {"type": "object", "properties": {"mean": {"type": ["number", "null"]},
        "lower": {"type": ["number", "null"]}, "upper": {"type": ["number", "null"]}}}}}}}}},
"Trajectories": {"type": "object", "required": ["trajectories"], "properties": {
  "trajectories": {"type": "array", "items": {"$ref": "#/components/schemas/Trajectory"}}}},
"Removed": {"type": "object", "required": ["removed"], "properties": {
  "removed": {"type": "integer", "description": "how many values"}}},
"History": {"type": "object", "required": ["stream", "observations", "more"], "properties": {
  "stream": {"type": "string"},
  "observations": {"type": "array", "items": {"type": "object",
    "required": ["time", "feature", "value", "received", "corrected"], "properties": {
      "time": {"type": "number"}, "feature": {"type": "string"}, "value": {"type": "number"},
      "received": {"type": "number", "description": "seconds since 1970"}, "corrected": {"type": "boolean"}}}},
  "more": {"type": "boolean"}}},

"Alarm": {"type": "object", "required": ["id", "stream", "rule", "priority", "state", "text"], "properties": {
  "id": {"type": "integer"}, "stream": {"type": "string"}, "rule": {"type": "string"},
  "kind": {"enum": ["crosses", "outside", "uncertainty", "silence", "fault"]}, "feature": {"type": ["string", "null"]},
  "priority": {"enum": ["low", "medium", "high"]},
  "state": {"enum": ["normal", "pending", "firing", "recovering"]},
  "since": {"type": "number", "description": "seconds since 1970"},
  "changed": {"type": "number", "description": "seconds since 1970"},
  "text": {"type": "string"}, "probability": {"type": "number"}, "value": {"type": ["number", "null"]},
  "acknowledged": {"type": ["object", "null"], "properties": {
    "by": {"type": "string"}, "reason": {"type": "string"}, "at": {"type": "number"}}}}},
"Alarms": {"type": "object", "required": ["alarms"], "properties": {
  "alarms": {"type": "array", "items": {"$ref": "#/components/schemas/Alarm"}}}},
"Acknowledgement": {"type": "object", "required": ["reason"], "properties": {
  "by": {"type": "string", "description": "the token's name where it is missing"}, "reason": {"type": "string"}}},
"Rule": {"type": "object", "required": ["name", "kind"], "properties": {
  "name": {"type": "string"}, "kind": {"enum": ["crosses", "outside", "uncertainty", "silence"]},
  "priority": {"enum": ["low", "medium", "high"]},
  "pending": {"type": "number", "description": "seconds that it must hold before it fires"},
  "recovering": {"type": "number", "description": "seconds that it must be gone before it is over"},
  "streams": {"type": "string", "description": "a pattern, as bed-*"},
  "feature": {"type": "string"}, "level": {"type": "number"}, "above": {"type": "number"}, "below": {"type": "number"},
  "within": {"type": "number"}, "probability": {"type": "number"}, "ratio": {"type": "number"},
  "for": {"type": "number", "description": "seconds without anything received"}}},
"Rules": {"type": "object", "required": ["rules"], "properties": {
  "rules": {"type": "array", "items": {"$ref": "#/components/schemas/Rule"}}}},

"Audit": {"type": "object", "required": ["audit"], "properties": {
  "audit": {"type": "array", "items": {"type": "object", "required": ["at", "what", "who", "stream", "detail"], "properties": {
    "at": {"type": "number", "description": "seconds since 1970"}, "what": {"type": "string"},
    "who": {"type": "string", "description": "the name of a token; empty where there are none"},
    "stream": {"type": "string"}, "detail": {"type": "string"}}}}}},
"Rejected": {"type": "object", "required": ["rejected"], "properties": {
  "rejected": {"type": "array", "items": {"type": "object", "required": ["at", "source", "detail", "payload"], "properties": {
    "at": {"type": "number"}, "source": {"type": "string"}, "detail": {"type": "string"}, "payload": {"type": "string"}}}}}},
"BackupRequest": {"type": "object", "required": ["to"], "properties": {
  "to": {"type": "string", "description": "a file that is not there yet"}}},
"Backup": {"type": "object", "required": ["backup"], "properties": {"backup": {"type": "string"}}},

"InferenceModel": {"type": "object", "required": ["name", "platform", "inputs", "outputs"], "properties": {
  "name": {"type": "string"}, "versions": {"type": "array", "items": {"type": "string"}}, "platform": {"type": "string"},
  "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/TensorAbout"}},
  "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/TensorAbout"}},
  "parameters": {"type": "object"}}},
"TensorAbout": {"type": "object", "required": ["name", "datatype", "shape"], "properties": {
  "name": {"type": "string"}, "datatype": {"type": "string"}, "shape": {"type": "array", "items": {"type": "integer"}}}},
"Tensor": {"type": "object", "required": ["name", "data"], "properties": {
  "name": {"type": "string"}, "datatype": {"type": "string"}, "shape": {"type": "array", "items": {"type": "integer"}},
  "data": {"type": "array", "items": {"type": ["number", "string", "null"]}}}},
"InferenceRequest": {"type": "object", "required": ["parameters"], "properties": {
  "id": {"type": "string"},
  "parameters": {"type": "object", "required": ["sequence_id"], "properties": {
    "sequence_id": {"type": ["string", "integer"]},
    "sequence_end": {"type": "boolean", "description": "removes the stream; needs the scope admin"}}},
  "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/Tensor"}}}},
"InferenceAnswer": {"type": "object", "required": ["model_name", "outputs"], "properties": {
  "model_name": {"type": "string"}, "model_version": {"type": "string"}, "id": {"type": "string"},
  "parameters": {"type": "object"},
  "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/Tensor"}}}}
})json";
}

}  // namespace edict::server
