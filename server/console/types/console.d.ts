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
  | "machines:read"
  | "machines:write"
  | "machines:control"
  | "pools:write"
  | "webhooks:write"
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
  invitation: InvitationReference | null;
  created_at: string;
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

interface MachineRemoved {
  id: string;
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

interface Workflow {
  id: string;
  name: string;
  description: string | null;
  created_at: string;
  updated_at: string;
}

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
  step_count: number;
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
  audit: AuditEntry;
}

/** What a page is drawn with. */
interface PageProperties {
  events: import("../static/server/events.js").Events;
  me: Session;
  query: URLSearchParams;
  /** What the address has behind the page's name. */
  id: string;
}

/** A page, and the signal that is aborted when it is left. */
type Watched = Pick<PageProperties, "events" | "me"> & { signal: AbortSignal };

/** What a list is filtered by. */
type Asked = Record<string, string> & { created_at_from: string; created_at_to: string };

interface AppState {
  /** Null where nobody is signed in. */
  me: Session | null;
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

type Order = (one: Machine, other: Machine) => number;

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
  chosen: string;
  choose: (value: string) => void;
}

interface FiltersProperties<Name extends string> {
  filters: Filter<Name>[];
  chosen: Record<Name, string>;
  choose: (change: Record<string, string>) => void;
}

interface PictureProperties {
  /** The id of a picture that the server keeps, or its base64 text; without one the marks are on nothing. */
  source: string;
  size: Size;
  /** None, one, or the beginning and the end of a way, in pixels of the size. */
  places: Place[];
  label: string;
}

interface FoundProperties<Item extends { id: string }> extends Omit<TableProperties<Item>, "items" | "chosen"> {
  list: import("../static/parts/listing.js").Listing<Item>;
  what: string;
  isFiltered: boolean;
  /** Clears the filters. */
  clear: () => void;
  /** What is to be done where there is nothing without filters. */
  first: unknown;
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
