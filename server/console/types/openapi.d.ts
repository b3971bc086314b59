// The parts of an OpenAPI 3.1 document that the page about the API reads.

interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  minItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

interface DescribedParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface DescribedContent {
  schema?: Schema;
}

interface DescribedBody {
  description?: string;
  required?: boolean;
  content: Record<string, DescribedContent>;
}

interface DescribedAnswer {
  description: string;
  headers?: Record<string, { description?: string }>;
  content?: Record<string, DescribedContent>;
}

interface DescribedOperation {
  operationId: string;
  tags: [string, ...string[]];
  summary: string;
  description?: string;
  security?: [{ token: string[] }];
  parameters: DescribedParameter[];
  requestBody?: DescribedBody;
  responses: Record<string, DescribedAnswer>;
}

interface OpenApi {
  info: { title: string; version: string; description: string };
  externalDocs?: { url: string; description: string };
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
}

type OfOperation<Made> = (method: string, path: string, described: DescribedOperation) => Made;

type FieldRow = (
  name: string,
  schema: Schema,
  required: boolean,
  description: string | undefined,
  depth: number,
) => HTMLElement;
