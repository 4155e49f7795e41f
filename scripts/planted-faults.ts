/**
 * Lists the faults that can be planted in a source file: small changes of the kinds that slip into real code.
 * Each is a range of the text and what stands there instead.
 */
import { stripTypeScriptTypes } from 'node:module'
import { type AnyNode, type CallExpression, type Comment, parse } from 'acorn'
import { ancestor } from 'acorn-walk'

export interface PlantedFault {
  kind: string
  /** Range of the source text, as offsets. */
  start: number
  end: number
  replacement: string
}

/** Operators, each with the one that is mistaken for it. */
const MISTAKEN: Record<string, string> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '-': '+',
  '*': '/',
  '/': '*',
}
/** Calls whose absence is no fault that a user meets. */
const UNSEEN_CALL = /^(?:log|console|warn|super)\b|\.(?:debug|info|warn)\($/

/** @param text TypeScript without JSX */
export function faultsOf(text: string): PlantedFault[] {
  // Types become blanks, so that offsets stay the same.
  const comments: Comment[] = []
  const options = { ecmaVersion: 'latest', sourceType: 'module', onComment: comments } as const
  const tree = parse(stripTypeScriptTypes(text), options)
  const code = comments.reduce((rest, comment) => blanked(rest, comment), text)
  const faults: PlantedFault[] = []
  const plant = (kind: string, { start, end }: { start: number; end: number }, replacement: string) =>
    faults.push({ kind, start, end, replacement })
  const textOf = ({ start, end }: { start: number; end: number }) => text.slice(start, end)
  const negate = ({ test }: { test: AnyNode | null | undefined }) => {
    if (test) plant('condition negated', test, `!(${textOf(test)})`)
  }
  const mistake = (node: { left: AnyNode; right: AnyNode; operator: string }) => {
    const other = MISTAKEN[node.operator]
    if (other === undefined) return
    const between = { start: node.left.end, end: node.right.start }
    const at = code.indexOf(node.operator, between.start)
    if (at >= 0 && at < between.end) plant('operator', { start: at, end: at + node.operator.length }, other)
  }
  ancestor(tree, {
    IfStatement: negate,
    ConditionalExpression: negate,
    WhileStatement: negate,
    LogicalExpression(node) {
      if (node.operator === '??') plant('fallback left out', node, textOf(node.left))
      else mistake(node)
    },
    BinaryExpression: node => mistake(node as Parameters<typeof mistake>[0]),
    ExpressionStatement(node) {
      const { expression } = node
      const call = expression.type === 'AwaitExpression' ? expression.argument : expression
      if (call.type !== 'CallExpression' || UNSEEN_CALL.test(`${textOf(call.callee)}(`)) return
      plant('call left out', node, ';')
    },
    CallExpression(node) {
      const name = filterOf(node)
      if (name) plant('filter left out', { start: dotBefore(code, name.start), end: node.end }, '')
    },
    Literal(node, _state, ancestors) {
      if (typeof node.value === 'boolean') plant('boolean', node, String(!node.value))
      else if (typeof node.value === 'number' && !isIndex(ancestors.at(-2)))
        plant('number', node, String(node.value + 1))
    },
    ArrayExpression(node) {
      const [first, second] = node.elements
      // Parentheses around an entry are no part of it.
      const end = code.indexOf(',', first?.end) + 1
      if (first && second) plant('entry left out', { start: node.start + 1, end }, '')
    },
  })
  return faults
}

/** @returns the name of a call such as `query.where(…)`; undefined for other calls */
function filterOf({ callee }: CallExpression): AnyNode | undefined {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined
  return /^(?:where|filter|limit|trim|toLowerCase|slice)$/.test(callee.property.name)
    ? callee.property
    : undefined
}

/** @returns where the `.` or `?.` before a name begins */
function dotBefore(code: string, at: number): number {
  const dot = code.lastIndexOf('.', at)
  return code[dot - 1] === '?' ? dot - 1 : dot
}

function blanked(text: string, { start, end }: Comment): string {
  return text.slice(0, start) + ' '.repeat(end - start) + text.slice(end)
}

function isIndex(parent: AnyNode | undefined): boolean {
  return parent?.type === 'MemberExpression'
}
