// What the console uses of Preact, for the type check alone: its documentation has the meaning.

export interface VNode {
  readonly type: unknown;
  readonly props: Readonly<Record<string, unknown>>;
}

export type Children = VNode | string | number | boolean | null | undefined | Children[];

export function h(tag: unknown, properties: unknown, ...children: unknown[]): VNode;
export function cloneElement(element: VNode, properties: object): VNode;
/** The value that `Provider` has around a part, or the one that it begins with. */
export interface Context<Value> {
  readonly Provider: unknown;
  readonly value?: Value;
}

export function createContext<Value>(value: Value): Context<Value>;
export function render(element: VNode | null, parent: Element): void;

/** Its methods, such as `render`, are those that the documentation names. */
export class Component<Properties, State = object> {
  constructor(properties: Properties);
  props: Readonly<Properties>;
  state: Readonly<State>;
  setState(change: Partial<State>): void;
  forceUpdate(): void;
}
