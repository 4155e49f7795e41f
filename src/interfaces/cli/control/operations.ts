/** Lists all operations by name, and executes one of them. */
import * as z from 'zod'
import { ApiError } from '../../api/api-error.ts'
import { keyOperations } from './key-operations.ts'
import {
  type OperationContext,
  type OperationInput,
  type OperationOutput,
  OperationRefused,
  type Operations,
  operation,
} from './operation.ts'
import { queueOperations } from './queue-operations.ts'
import { senderOperations } from './sender-operations.ts'
import { userOperations } from './user-operations.ts'

/** Diagnostics run in the service, since the shell of the operator may have other settings. */
const doctorOperations = {
  'doctor.run': operation(z.object({}), async ({ examine }) => examine && (await examine())),
}

const operations = {
  ...doctorOperations,
  ...userOperations,
  ...keyOperations,
  ...queueOperations,
  ...senderOperations,
}

type Table = typeof operations

/** @throws OperationRefused */
export type Change = <K extends keyof Table & string>(
  name: K,
  input: OperationInput<Table[K]>,
) => Promise<OperationOutput<Table[K]>>

/**
 * Executes an operation received over the socket. The input is validated.
 * @throws OperationRefused
 */
export async function carryOut(context: OperationContext, name: string, input: unknown): Promise<unknown> {
  const operation = Object.hasOwn(operations, name) ? (operations as Operations)[name] : undefined
  if (!operation)
    throw new OperationRefused(`The service does not support ${name}; it may run another version.`)
  const read = operation.input.safeParse(input)
  if (!read.success) {
    const [{ path, message } = { path: [], message: '' }] = read.error.issues
    throw new OperationRefused(`${path.join('.') || 'The input'}: ${message}.`)
  }
  try {
    return await operation.run(context, read.data)
  } catch (error) {
    throw error instanceof ApiError ? new OperationRefused(error.message) : error
  }
}
