/** Short names for the types of the API. They are generated from docs/openapi.json. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Execution = Schemas["Execution"];
export type ExecutionDetail = Schemas["Detail"];
export type EventRow = Schemas["EventRow"];
export type EventPage = Schemas["EventPage"];
export type Step = Schemas["Step"];
export type RanStep = Schemas["RanStep"];
export type Attempt = Schemas["Attempt"];
export type LogLine = Schemas["LogLine"];
export type RunState = Schemas["State"];
export type Stats = Schemas["Stats"];
export type ServerStatus = Schemas["ServerStatus"];
export type Entry = Schemas["Entry"];
export type Diagnostic = Schemas["Diagnostic"];
export type Part = Schemas["Part"];

/** Anything that JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type VersionInfo = Schemas["VersionInfo"];
export type UiSchema = Schemas["UiSchema"];
export type InputField = Schemas["Field"];
export type Outline = Schemas["Outline"];
export type Credential = Schemas["Credential"];
export type Subscription = Schemas["SubscriptionStatus"];
export type Plugin = Schemas["PluginInfo"];
export type Token = Schemas["Token"];
export type TokenScope = Schemas["TokenScope"];
export type AuditEntry = Schemas["AuditEntry"];
export type DryRun = Schemas["DryRun"];
export type FirstCall = Schemas["FirstCall"];
export type ConfigInEffect = Schemas["ConfigInEffect"];
export type SettingInEffect = Schemas["SettingInEffect"];
