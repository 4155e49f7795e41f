/** Job and answer of the child process that parses large bodies. */
import type { TakePieces } from '../../../lib/serve-process.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import { withOwnMemory } from '../../../pipeline/accept/transferables.ts'
import { StorageUnavailable } from '../../../store/model/command.ts'
import { ApiError } from '../api-error.ts'
import { doBodyWork } from '../emails/send-work.ts'
import type { BodyWork, SendBody } from '../route/route.ts'
import { parseLargeJson } from './json.ts'

export interface BodyJob {
  work: BodyWork
}

/** Errors that are part of the protocol travel as values. */
export type BodyAnswer =
  | { body: unknown; isSend: boolean }
  | { refused: Pick<ApiError, 'status' | 'errorName' | 'message' | 'errors'> }
  | { unavailable: string }

export async function doBodyJob(
  { work }: BodyJob,
  takePieces: TakePieces,
  preparation: Preparation,
): Promise<BodyAnswer> {
  try {
    const body = await doBodyWork(parseLargeJson(Buffer.concat(takePieces())), work, preparation)
    return { body, isSend: work !== null }
  } catch (error) {
    return answerOf(error)
  }
}

/** @throws ApiError @throws StorageUnavailable */
export function readAnswer(answer: BodyAnswer): unknown {
  if ('body' in answer) {
    if (answer.isSend) withOwnMemory((answer.body as SendBody).prepared)
    return answer.body
  }
  if ('unavailable' in answer) throw new StorageUnavailable(answer.unavailable)
  const { status, errorName, message, errors } = answer.refused
  throw new ApiError(status, errorName, message, { errors })
}

function answerOf(error: unknown): BodyAnswer {
  if (error instanceof StorageUnavailable) return { unavailable: error.message }
  if (!(error instanceof ApiError)) throw error
  const { status, errorName, message, errors } = error
  return { refused: { status, errorName, message, errors } }
}
