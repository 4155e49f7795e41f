/** Kysely query compiler for SQLite, with statements worded so that each is planned once. */
import { type BinaryOperationNode, ReferenceNode, SqliteQueryCompiler, ValueNode } from 'kysely'

/**
 * What partial indexes are chosen by, which is why statements say these values instead of being given them.
 */
const CHOSEN_BY = new Set(['state', 'status', 'notice_due'])

/**
 * SQLite plans a statement anew whenever something is bound that its plan might depend on: a limit, whatever
 * a statement with an order compares with, and what a partial index asks for. A sign before the placeholder,
 * which changes no value, says that it does not.
 */
export class StatementCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder() {
    return '+?'
  }

  protected override visitBinaryOperation(node: BinaryOperationNode) {
    const { leftOperand, rightOperand } = node
    const said =
      ValueNode.is(rightOperand) && isChosenBy(leftOperand)
        ? { ...node, rightOperand: ValueNode.createImmediate(rightOperand.value) }
        : node
    super.visitBinaryOperation(said)
  }
}

function isChosenBy(operand: BinaryOperationNode['leftOperand']): boolean {
  if (!ReferenceNode.is(operand) || operand.column.kind !== 'ColumnNode') return false
  return CHOSEN_BY.has(operand.column.column.name)
}
