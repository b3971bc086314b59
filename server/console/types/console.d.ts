// What the console's JSDoc comments name.  Neither sent nor shipped: it is for the type check alone,
// so that the console, whose every byte is sent, says a type in one word.

// What the server answers, as schemas/ has it; tests/server/console/test_types.py compares the two.

type MachineState = "online" | "offline" | "paused" | "no_input";

type Outcome =
  | "completed"
  | "failed"
  | "refused"
  | "stopped"
  | "expired"
  | "not_carried_out"
  | "unknown"
  | "pending";

type Operation =
  | "mouse.drag"
  | "mouse.click"
  | "mouse.scroll"
  | "mouse.move"
  | "keyboard.key"
  | "keyboard.type"
  | "clipboard.write"
  | "element.invoke"
  | "element.set_value"
  | "element.focus";

type Scope =
  | "trajectories:read"
  | "trajectories:write"
  | "trajectories:approve"
  | "machines:read"
  | "machines:write"
  | "machines:control"
  | "pools:write"
  | "webhooks:write"
  | "recordings:write"
  | "runs:read"
  | "runs:write"
  | "help:answer"
  | "input:send"
  | "screen:read"
  | "clipboard"
  | "tokens:write"
  | "organizations:write"
  | "audit:read"
  | "metrics:read"
  | "machine:connect";

interface Display {
  x: number;
  y: number;
  width: number;
  height: number;
  scale: number;
}

interface Capability {
  available: boolean;
  reason: string | null;
  switched_off: boolean;
}

interface InputCounts {
  completed: number;
  failed: number;
}

interface Holder {
  by: string;
  since: string;
  private: boolean;
}

interface Pause {
  since: string;
  by: string;
  reason: string | null;
  until: string | null;
}

interface Control extends Holder {
  id: string;
  machine_id: string;
  expires_at: string;
}

interface PoolReference {
  id: string;
  name: string;
}

interface InvitationReference {
  id: string;
  name: string | null;
}

interface Machine {
  id: string;
  organization_id: string;
  name: string;
  state: MachineState;
  reason: string;
  since: string;
  paused: boolean;
  pause: Pause | null;
  control: Holder | null;
  tags: string[];
  pools: PoolReference[];
  platform: string | null;
  client_version: string | null;
  outdated: boolean;
  desktop: string | null;
  node: string | null;
  displays: Display[];
  round_trip_ms: number | null;
  viewers: string[];
  inputs: InputCounts;
  last_input_at: string | null;
  screen: Capability;
  elements: Capability;
  recordings: RecordingReference[];
  invitation: InvitationReference | null;
  created_at: string;
}

interface RecordingReference {
  id: string;
  by: string;
  since: string;
  of: "everybody" | "me";
  secret: boolean;
}

type WhyStopped =
  | "asked"
  | "steps"
  | "bytes"
  | "hours"
  | "idle"
  | "token"
  | "pools"
  | "machine"
  | "trajectory"
  | "failed";

interface Recording extends RecordingReference {
  machine_id: string;
  trajectory_id: string;
  workflow_id: string;
  keep_texts: boolean;
  state: "recording" | "stopped";
  stopped_at: string | null;
  why_stopped: WhyStopped | null;
  reason: string | null;
  steps: number;
  gaps: number;
  secrets: number;
  pictures: number;
  picture_bytes: number;
  last_step_at: string | null;
}

interface CommandItem {
  command_id: string;
  operation: Operation | "actions" | "hand";
  token_name: string | null;
  token_id: string | null;
  accepted_at: string;
  completed_at: string | null;
  outcome: Outcome;
  code: string | null;
  duration_ms: number | null;
  inputs: number;
  note: string | null;
}

/** Somebody asks whoever has control to give it back. */
interface ControlRequested {
  id: string;
  by: string;
  note: string | null;
}

interface CommandEvent extends CommandItem {
  machine_id: string;
  pointer: Point | null;
}

interface Pool extends PoolReference {
  description: string | null;
  offline_after: number | null;
  machines: number;
  created_at: string;
  created_by: string;
}

interface Invitation {
  id: string;
  name: string | null;
  machine_id: string | null;
  uses: number;
  used: number;
  approval: boolean;
  tags: string[];
  pools: PoolReference[];
  created_at: string;
  created_by: string;
  expires_at: string;
}

interface CreatedInvitation extends Invitation {
  code: string;
}

/** A host that has come with an invitation. */
interface Join {
  id: string;
  host: string;
  address: string;
  state: "waiting" | "joined" | "refused";
  machine_id: string | null;
  created_at: string;
}

type Role = "viewer" | "operator" | "agent" | "reviewer" | "administrator";

interface Token {
  id: string;
  name: string;
  organization_id: string;
  user_id: string | null;
  role: Role | null;
  scopes: Scope[];
  machine_id: string | null;
  pool_ids: string[] | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

interface CreatedToken extends Token {
  token: string;
}

interface ConsoleSession {
  id: string;
  token_id: string;
  token_name: string;
  user_agent: string | null;
  created_at: string;
  last_used_at: string;
  expires_at: string;
  current: boolean;
}

interface Organization {
  id: string;
  name: string;
  created_at: string;
  parent_id: string | null;
}

interface QuietHours {
  begin: string;
  end: string;
  time_zone: string;
}

interface Webhook {
  id: string;
  url: string;
  events: string[];
  pools: PoolReference[];
  description: string | null;
  quiet_hours: QuietHours | null;
  created_at: string;
  created_by: string;
  dropped: number;
}

interface CreatedWebhook extends Webhook {
  secret: string;
}

interface Delivery {
  id: string;
  event: string;
  state: "waiting" | "delivered" | "failed";
  attempts: number;
  status: number | null;
  error: string | null;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
}

interface MachineRemoved {
  id: string;
}

interface HelpRequest {
  id: string;
  machine_id: string;
  kind: "help" | "approval";
  reason: string;
  run_id: string | null;
  state: "open" | "answered" | "withdrawn" | "timed_out";
  created_at: string;
  expires_at: string;
  by: string;
  answer: "done" | "cannot" | "approve" | "deny" | null;
  comment: string | null;
  answered_by: string | null;
  ended_at: string | null;
}

/** A rectangle of the desktop. */
interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Candidate {
  at: Area | null;
  score: number;
  text: string | null;
}

interface Halted {
  step: number;
  reason: string;
  detail: string;
  at: string;
  picture: string | null;
  candidates: Candidate[];
  is_done: boolean;
  is_unknown: boolean;
  help_id: string | null;
}

interface StepResult {
  number: number;
  status: "done" | "skipped";
  attempts: number;
  command_id: string | null;
  how: string | null;
  score: number | null;
  verified: string | null;
  began_at: string;
  ended_at: string;
}

interface Repair {
  number: number;
  kind: "pointed" | "by_hand";
  by: string;
  at: string;
}

interface Run {
  id: string;
  workflow_id: string;
  trajectory_id: string;
  content_hash: string;
  machine_id: string | null;
  pool_ids: string[] | null;
  status: "scheduling" | "running" | "running_checks" | "success" | "task_failed" | "error" | "cancelled";
  priority: number;
  halt_timeout: number;
  input_values: Record<string, unknown>;
  secrets: string[];
  step_count: number;
  step: number;
  halted: Halted | null;
  repairs: Repair[];
  proposal_id: string | null;
  error: string | null;
  by: string;
  retry_of: string | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

interface RunWithSteps extends Run {
  steps: StepResult[];
}

interface TrajectoryChanged {
  id: string;
  change: "created" | "changed" | "deleted";
}

/** What a token allowed. */
interface Grant {
  role: string | null;
  scopes: string[];
}

interface AuditEntry {
  id: string;
  created_at: string;
  action: string;
  token_id: string | null;
  token_name: string | null;
  target: string | null;
  target_name: string | null;
  grant: Grant | null;
  machine_id: string | null;
  request_id: string;
  note: string | null;
  command: CommandItem | null;
}

/** What a value of a parameter may be. */
interface Parameter {
  type: "text" | "integer" | "number";
  example: string | null;
  description: string | null;
  max_length: number;
  control_characters: boolean;
}

interface Workflow {
  id: string;
  name: string;
  description: string | null;
  input_schema: Record<string, unknown> | null;
  created_at: string;
  updated_at: string;
}

interface Editor {
  token_id: string;
  token_name: string;
  user_id: string | null;
}

interface Review {
  state: "open" | "approved" | "rejected" | "withdrawn";
  by: Editor | null;
  at: string | null;
  comment: string | null;
  content_hash: string | null;
}

type Decision = "approve" | "reject" | "withdraw";

interface Trajectory {
  id: string;
  workflow_id: string;
  is_approved: boolean;
  has_been_approved: boolean;
  is_generated: boolean;
  is_main: boolean;
  dimensions: Size;
  created_at: string;
  updated_at: string;
  name: string | null;
  description: string | null;
  run_id: string | null;
  user_id: string | null;
  organization_id: string | null;
  machine_id: string | null;
  pictures_until: string | null;
  pictures_expired_at: string | null;
  step_count: number;
  content_hash: string | null;
  review: Review;
  trajectory_data: Step[] | null;
  original_input_values: Record<string, unknown>;
}

/** One of the list, with its workflow's name. */
interface ListedTrajectory extends Trajectory {
  workflow: string;
}

/** A part of a list. */
interface Part<Item> {
  items: Item[];
  total: number;
  skip: number;
  limit: number;
}

interface TrajectoryPart extends Part<Trajectory> {
  included?: Workflow[];
}

interface StateCounts {
  online: number;
  offline: number;
  paused: number;
  no_input: number;
  not_set_up: number;
  in_trouble: number;
  fine: number;
  outdated: number;
}

interface TagCount {
  tag: string;
  machines: number;
}

interface PoolCount extends PoolReference {
  machines: number;
}

interface Pool extends PoolReference {
  description: string | null;
  offline_after: number | null;
  machines: number;
  created_at: string;
  created_by: string;
}

/** Of the list of machines, with what was counted of all that fit. */
interface MachinePart extends Part<Machine> {
  counts: StateCounts;
  tags: TagCount[];
  pools: PoolCount[];
}

interface Trouble {
  kind: "offline" | "no_input" | "no_screen";
  reason: string;
  since: string;
  until: string | null;
  seconds: number;
}

interface ExpectedOffline {
  machine_id: string;
  until: string;
  reason: string | null;
  by: string;
}

/** What became of one of many machines. */
interface BulkItem {
  machine_id: string;
  status: "done" | "not_found" | "failed";
  detail: string | null;
}

interface BulkResult {
  items: BulkItem[];
  done: number;
  failed: number;
}

/** Which machines are shown, as the address has it. */
type Narrowed = Record<"search" | "state" | "pool" | "tag" | "outdated", string>;

/** Something that can be done with many machines. */
interface ManyChange {
  word: string;
  /** In front of which machines, where the word alone does not do. */
  title?: string;
  /** In front of how many, afterwards. */
  done: string;
  /** What it needs beside machines:write. */
  scope?: Scope;
  /** Whether it cannot be taken back. */
  isGrave?: boolean;
  fields: (machines: Map<string, string>) => unknown;
  run: (doing: { ids: string[]; values: FormData; told: (items: BulkItem[]) => void }) => Promise<void>;
}

/** Who is signed in: `GET console/session`. */
interface Session {
  token_name: string;
  organization_id: string;
  scopes: Scope[];
  expires_at: string | null;
}

/** A step is whatever was recorded: each of these may be there, and may be anything. */
interface Step {
  operation?: unknown;
  body?: unknown;
  after_ms?: unknown;
  [name: string]: unknown;
}

/** A problem's body (RFC 9457), or what a proxy answers instead. */
interface ProblemMembers {
  type?: string;
  detail?: string | { loc?: string[]; msg: string }[];
  scope?: string;
  by?: string;
  since?: string;
  final?: boolean;
}

// What the parts of the console hand to each other.

interface Size {
  width: number;
  height: number;
}

interface Place {
  x: number;
  y: number;
}

/** A place on a machine's desktop, as the server says it. */
interface Point {
  x: number;
  y: number;
}

type Region = Place & Size;

/** How a machine's screen is looked at. */
interface View {
  /** Null is all of the desktop. */
  display: Region | null;
  /** How much larger than its stage. */
  scale: number;
  /** Whether each pixel is wanted. */
  isActual: boolean;
}

/** What two fingers hold: a part of the picture, as wide as that was, and so far apart from each other. */
type Grip = Place & { width: number; apart: number };

interface Answer<Data> {
  headers: Headers;
  data: Data;
}

interface RequestOptions<Body> {
  body?: Body | null;
  headers?: Record<string, string>;
  signal?: AbortSignal | null;
  /** Whether it goes on when the page is left. */
  keepalive?: boolean;
}

/** What is told by the server's events, by the event's name. */
interface Told {
  reset: null;
  machine: Machine;
  machine_removed: MachineRemoved;
  control_requested: ControlRequested;
  command: CommandEvent;
  trajectory: TrajectoryChanged;
  recording: Recording;
  help_requested: HelpRequest;
  help_answered: HelpRequest;
  help_ended: HelpRequest;
  run: Run;
  audit: AuditEntry;
}

/** What a page is drawn with. */
interface PageProperties {
  events: import("../static/server/events.js").Events;
  me: Session;
  helps: import("../static/help/queue.js").HelpQueue;
  query: URLSearchParams;
  /** What the address has behind the page's name. */
  id: string;
}

/** A page, and the signal that is aborted when it is left. */
type Watched = Pick<PageProperties, "events" | "me"> & { signal: AbortSignal };

/** What a list is filtered by. */
type Asked = Record<string, string>;

interface AppState {
  /** Null where nobody is signed in. */
  me: Session | null;
  helps: import("../static/help/queue.js").HelpQueue | null;
  /** Why one has to sign in. */
  words: string;
  error: unknown;
  isReady: boolean;
  /** Counts the pages that were shown: each begins anew. */
  visit: number;
}

/** A column of a table. */
interface Column<Item> {
  key: string;
  label: string;
  /** What stands at its head in place of the label. */
  head?: import("../static/vendor/preact.js").Children;
  /** How it is sorted first: downwards where it is a time. */
  sorts?: "up" | "down";
  numeric?: boolean;
  cell: (item: Item) => import("../static/vendor/preact.js").Children;
  attributes?: (item: Item) => Record<string, unknown>;
}

interface RowProperties {
  item: unknown;
  columns: Column<unknown>[];
  row?: (item: unknown) => Record<string, unknown>;
}

interface TableProperties<Item extends { id: string }> {
  /** Its class. */
  name: string;
  label: string;
  columns: Column<Item>[];
  items: Item[];
  /** The attributes of an item's row. */
  row?: (item: Item) => Record<string, unknown>;
  /** The key of the column that it is sorted by, with a minus before it where that is turned round. */
  order?: string;
  sort?: (order: string) => void;
  /** Changes where other items are shown, so that these are drawn from the first again. */
  chosen: string;
}

interface Chip {
  value: string;
  word: string;
  count: number;
  isState?: boolean;
}

/** Of a sentence to a person. */
type Kind = "good" | "bad" | "info" | "waits";

/** Listens to an element. */
type ListenTo = <Name extends keyof HTMLElementEventMap>(
  element: HTMLElement,
  type: Name,
  take: (event: HTMLElementEventMap[Name]) => unknown,
) => void;

/** One of the stream of server-sent events. */
interface ServerEvent {
  id?: string;
  event?: string;
  data?: string;
}

type Button = "left" | "right" | "middle" | "back" | "forward";

/** A key that goes down or up. */
type KeyEvent = { type: "key"; key: string; down: boolean };

/** Something that a person does on a machine, as schemas/inputs/hand.py has it. */
type HandEvent =
  | KeyEvent
  | ({ type: "move" } & Place)
  | ({ type: "button"; button: Button; down: boolean } & Partial<Place>)
  | ({ type: "wheel"; direction: "up" | "down" | "left" | "right"; amount: number } & Partial<Place>)
  | { type: "text"; text: string };

interface ButtonPlace {
  button: "left" | "right" | "middle" | "back" | "forward";
  x: number | null;
  y: number | null;
}

interface Undone {
  moves: number;
  presses: ButtonPlace[];
  notches: number;
  keys: number;
  characters: number;
}

interface Acknowledged {
  type: "acknowledged";
  sequence: number;
}

interface Refused {
  type: "refused";
  sequence: number;
  problem: string;
  detail: string;
  not_sent: Undone;
}

type HandMessage = Acknowledged | Refused;

/** What of an event says what a person holds. */
interface Held {
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
  getModifierState: (name: string) => boolean;
}

/** What of a keyboard's event says which key it is. */
interface KeyPlace {
  key: string;
  code: string;
}

interface KeyLike extends Held, KeyPlace {
  repeat: boolean;
  isComposing: boolean;
}

/** What hands on a picture need. */
interface Hands {
  screen: Pick<import("../static/screen/screen.js").Screen, "canvas" | "placeOf" | "region">;
  typing: HTMLTextAreaElement;
  touchpad: import("../static/control/touchpad.js").Touchpad;
  latches: import("../static/control/keys_panel.js").Latches;
  hand: { send: (...events: HandEvent[]) => void; released?: () => void };
  /** Null where the person may not use the machine's. */
  clipboard: import("../static/control/clipboard.js").Clipboard | null;
  own: Record<OwnKey, () => unknown>;
  signal: AbortSignal;
}

/** What control of a machine on its page needs. */
interface ControlParts {
  machine: Machine;
  scopes: Scope[];
  screen: import("../static/screen/screen.js").Screen;
  read: () => Promise<void>;
}

/** What the console's own keys are for. */
type OwnKey = "leave" | "copy" | "buttons";

/** What was copied on a machine: `GET /v1/computer/{id}/clipboard`. */
interface ClipboardText {
  text: string;
}

/** Something that a machine's screen shows: `GET /v1/computer/{id}/elements`. */
interface DesktopElement {
  role: string;
  name: string;
  value: string | null;
  states: string[];
  bounds: Region | null;
  window: string;
  application: string;
  depth: number;
  ref: string;
  selector: Record<string, string>;
}

/** A finger on the picture. */
interface Finger {
  /** Where it went down on the machine. */
  place: Place | null;
  x: number;
  y: number;
  at: number;
  isDirect: boolean;
  /** Whether it goes on with a tap. */
  isAgain: boolean;
  hasMoved: boolean;
  /** What it has moved and is not told yet. */
  way: PointerEvent[];
}

/** A filter of the list of trajectories: a choice, or a field of a type. */
interface Filter<Name> {
  name: Name;
  label: string;
  options?: [string, string][];
  type?: string;
  hint?: string;
}

/** Chromium's alone: https://developer.mozilla.org/docs/Web/API/Keyboard/lock */
interface Navigator {
  keyboard?: { lock?: () => Promise<void>; unlock?: () => void };
}

// What parts of pages are drawn with.

interface FieldProperties {
  label: string;
  children: import("../static/vendor/preact.js").VNode;
  /** Whether the label stands beside the field. */
  inline?: boolean;
}

/** With attributes of the button, as the next two have those of theirs. */
interface ToggleProperties {
  isOn: boolean;
  click: () => unknown;
  opens?: boolean;
  children: unknown;
}

/** Boxes of which any number may be chosen: each a value and its words. */
interface ChoicesProperties {
  name: string;
  legend: string;
  options: [string, string][];
  chosen?: string[] | undefined;
}

interface ConfirmProperties {
  title: string;
  /** On the button that does it. */
  word: string;
  work: () => Promise<unknown>;
  close: () => void;
  children: unknown;
}

interface NewTokenProperties {
  me: Session;
  pools: Pool[] | null;
  organization?: Organization;
  made: (token: CreatedToken) => void;
  close: () => void;
}

interface WebhookFormProperties {
  /** What is changed; nothing where one is made. */
  webhook?: Webhook;
  pools: Pool[] | null;
  submit: (body: object) => Promise<unknown>;
  close: () => void;
}

interface WorkButtonProperties {
  work: () => Promise<unknown>;
  children: unknown;
}

interface WorkFormProperties {
  /** Called with what was filled in. */
  submit: (values: FormData) => unknown;
  /** Said until something is sent. */
  words?: string;
  children: unknown;
}

interface DialogProperties {
  title: string;
  /** Called with what was filled in. */
  submit: (values: FormData) => unknown;
  /** Called when it is left, with Escape too. */
  close: () => void;
  children: unknown;
}

interface NothingFitsProperties {
  what: string;
  clear: () => void;
  children?: unknown;
}

interface ChipsProperties {
  label: string;
  chips: Chip[];
  /** With commas between, where there may be several. */
  chosen: string;
  several?: boolean;
  choose: (value: string) => void;
}

interface FiltersProperties<Name extends string> {
  filters: Filter<Name>[];
  chosen: Record<Name, string>;
  choose: (change: Record<string, string>) => void;
}

interface DecisionsProperties {
  reading: import("../static/pages/review/one_trajectory.js").OneTrajectory;
  trajectory: Trajectory;
}

interface ManagedProperties extends DecisionsProperties {
  close: () => void;
}

interface ManagingProperties extends DecisionsProperties {
  mayWrite: boolean;
  /** The list that one came from. */
  back: string;
}

interface AnsweringProperties {
  helps: import("../static/help/queue.js").HelpQueue;
  asked: HelpRequest;
  answer: string;
  close: () => void;
  /** Called once it is answered. */
  done?: () => unknown;
}

interface AnswerButtonsProperties {
  asked: HelpRequest;
  choose: (answer: string) => void;
}

interface HelpCardProperties extends AnswerButtonsProperties {
  glances: import("../static/fleet/glances.js").Glances;
  events: PageProperties["events"];
  mayAnswer: boolean;
}

interface MachineViewProperties extends Pick<PageProperties, "me" | "events" | "helps"> {
  machine: Machine;
  /** The id of the help request that somebody came for; empty where it is none. */
  taken: string;
}

interface AskedHereProperties {
  helps: import("../static/help/queue.js").HelpQueue;
  machine: Machine;
  control: import("../static/control/machine_control.js").MachineControl;
  mayAnswer: boolean;
  taken: string;
}

interface SmallProperties {
  /** Where the picture is; empty where there is none. */
  read: (signal: AbortSignal) => Promise<string>;
  size: Size;
}

interface ComparisonProperties {
  trajectory: Trajectory;
  steps: Step[];
  /** Shows the step at this place, counted from 0. */
  go: (at: number) => void;
}

interface StepsProperties extends DecisionsProperties {
  steps: Step[];
  mayEdit: boolean;
}

/** One way to change a step. */
interface Edit {
  key: string;
  word: string;
  title: string;
  fits: (step: Step) => boolean;
  fields: (step: Step) => unknown;
  /** What is sent; null removes the step. */
  change: (values: FormData, isRemoved: boolean) => object | null;
  /** A box that takes away what the form is about, where there is that. */
  removes?: { word: string; fits: (step: Step) => boolean };
}

/** A trajectory's content as a person sees it. */
interface Shown {
  tag: string;
  content_hash: string | null | undefined;
}

interface EditsProperties {
  reading: import("../static/pages/review/one_trajectory.js").OneTrajectory;
  step: Step;
  /** Counted from 1. */
  number: number;
}

/** What is asked, and of which step. */
interface EditAsked {
  edit: Edit;
  step: Step;
  number: number;
  shown: Shown;
}

interface QuestionProperties {
  reading: import("../static/pages/review/one_trajectory.js").OneTrajectory;
  asked: EditAsked;
  close: () => void;
}

/** A part of a picture, and words at it. */
type Mark = Region & { words: string };

interface HaltProperties {
  reading: import("../static/pages/runs/one_run.js").OneRun;
  halted: Halted;
  mayWrite: boolean;
}

/** What a halted run's buttons do: it goes on as they say, where it is still halted as it is shown. */
interface GoOnProperties {
  goOn: (how?: object) => Promise<void>;
}

interface PictureProperties {
  /** The id of a picture that the server keeps, or its base64 text; without one the marks are on nothing. */
  source: string;
  read: (source: string) => Promise<ImageBitmap>;
  size: Size;
  /** None, one, or all of a way from its beginning to its end, in pixels of the size. */
  places: Place[];
  /** Where that is which something was done to. */
  box?: (Place & Size) | null;
  /** What else is to be seen, with words at each. */
  marks?: Mark[];
  label: string;
  /** Is told where in it somebody clicks. */
  click?: ((place: Place) => void) | null;
}

interface AsItIsProperties {
  /** The id of the picture. */
  source: string;
  read: PictureProperties["read"];
  candidates: Candidate[];
  pointed?: import("../static/pages/runs/pointing.js").Pointed | null;
  click?: (place: Place) => void;
}

interface PointingProperties extends GoOnProperties {
  /** What the machine's programs tell of, and why they do not. */
  elements: DesktopElement[];
  words: string;
  pointed: import("../static/pages/runs/pointing.js").Pointed | null;
  point: (pointed: import("../static/pages/runs/pointing.js").Pointed) => void;
}

/** Of a list of the server's that nothing narrows. */
interface PagesOptions {
  address: string;
  /** What narrows it. */
  filter?: Record<string, string>;
  /** The first words of the audit's actions that change it. */
  kinds: string[];
  /** After how many milliseconds it is read again all the same. */
  every?: number;
}

interface FoundProperties<Item extends { id: string }> extends Omit<TableProperties<Item>, "items" | "chosen"> {
  list: import("../static/parts/listing.js").Listing<Item>;
  what: string;
  isFiltered: boolean;
  /** Clears the filters. */
  clear: () => void;
  /** What is to be done where there is nothing without filters. */
  first: unknown;
  /** In place of a table. */
  draw?: (items: Item[]) => unknown;
}

type MachineControl = import("../static/control/machine_control.js").MachineControl;

interface ToolBarProperties {
  control: MachineControl;
  viewing: import("../static/screen/viewing.js").Viewing;
  children?: unknown;
}

/** What a person reads of their work. */
interface Said {
  words: string;
  kind: Kind;
}

/** What was sent at once, and when. */
interface Batch {
  sequence: number;
  events: HandEvent[];
  at: number;
}
