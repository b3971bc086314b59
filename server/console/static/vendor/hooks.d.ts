import type { Context } from "./preact.js";

interface Ref<Value> {
  current: Value;
}

export function useState<State>(
  initial: State | (() => State),
): [State, (next: State | ((before: State) => State)) => void];
export function useEffect(effect: () => void | (() => void), inputs?: readonly unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: readonly unknown[]): void;
export function useMemo<Value>(make: () => Value, inputs: readonly unknown[]): Value;
export function useRef<Value>(initial: Value): Ref<Value>;
export function useContext<Value>(context: Context<Value>): Value;
export function useId(): string;
