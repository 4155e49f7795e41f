/**
 * Types of operations: changes that the command line requests. The process that holds the lock of the data
 * folder executes them.
 */
import type * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import type { IdSource } from '../../../lib/ids.ts'
import type { Accept } from '../../../pipeline/accept/accept.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import type { deletionCommands } from '../../../pipeline/deletion/commands.ts'
import type { destinationStateCommands } from '../../../pipeline/queue/destination-states.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import type { QueueAdminCommands } from '../../../pipeline/queue/queue-admin.ts'
import type { accessTokenCommands } from '../../../resources/accounts/access-token-rows.ts'
import type { apiKeyCommands } from '../../../resources/accounts/api-key-rows.ts'
import type { Passwords } from '../../../resources/accounts/password.ts'
import type { userCommands } from '../../../resources/accounts/user-rows.ts'
import type { Domains } from '../../../resources/domains/domains.ts'
import type { rotationCommands } from '../../../resources/domains/rotation-commands.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { DomainRegistration } from '../../api/domains/routes.ts'
import type { DoctorReport } from '../../doctor/finding.ts'

/** Dependencies of operations. */
export interface OperationContext {
  db: Db
  run: Run<
    typeof userCommands &
      typeof apiKeyCommands &
      typeof accessTokenCommands &
      QueueAdminCommands &
      typeof destinationStateCommands &
      typeof rotationCommands &
      typeof deletionCommands
  >
  clock: Clock
  newId: IdSource
  passwords: Passwords
  apiKeyPrefix: string
  accessTokenPrefix: string
  /** Provider host, from which the service sends its own email. */
  mailHost: string
  /** Returns the current delivery state of destinations; empty if the service does not run. */
  pathsTo: PathsTo
  /** Registers domains and sends emails; null if the service does not run. */
  sender: RunningSender | null
  /** Runs all diagnostics with the settings of the service; null if it does not run. */
  examine: (() => Promise<DoctorReport>) | null
}

/** Parts of the running service that add a domain and send the first email. */
export interface RunningSender {
  domains: Pick<Domains, 'find' | 'verify'>
  registration: DomainRegistration
  accept: Pick<Accept, 'send'>
  preparation: Pick<Preparation, 'email'>
}

/** Input and output travel as JSON: plain values, prefixed ids and snake_case names. */
interface Operation<I, O> {
  input: z.ZodType<I>
  /** @throws OperationRefused */
  run(context: OperationContext, input: I): Promise<O>
}

/** Refusal of an operation. The message is for the operator, and nothing has changed. */
export class OperationRefused extends Error {}

/** Failure of an operation, or loss of its result. The message is for the operator. */
export class OperationFailed extends Error {}

export function operation<I, O>(
  input: z.ZodType<I>,
  run: (context: OperationContext, input: I) => Promise<O>,
): Operation<I, O> {
  return { input, run }
}

// biome-ignore lint/suspicious/noExplicitAny: a table of operations with different inputs and outputs has no other type
export type Operations = Record<string, Operation<any, any>>
export type OperationInput<T> = T extends { input: z.ZodType<infer I> } ? I : never
export type OperationOutput<T> = T extends { run(context: OperationContext, input: never): Promise<infer O> }
  ? O
  : never
