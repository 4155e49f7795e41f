/** What block lists say of our addresses, gathered from the findings of the check-up. */
import type { Doctor } from '../api/types.ts'

type Finding = Doctor['findings'][number]

export interface ListState {
  /** Names of lists. */
  listed: string[]
  clear: string[]
  /** They did not answer, or not us. */
  silent: string[]
}

/** By address; undefined until the check-up is over. */
export function listStates(doctor: Doctor | undefined): Map<string, ListState> | undefined {
  if (!doctor) return undefined
  const states = new Map<string, ListState>()
  for (const finding of doctor.findings) {
    if (finding.check !== 'blocklist' || finding.subject === null) continue
    const [address = '', list = ''] = finding.subject.split(' ')
    const state = states.get(address) ?? { listed: [], clear: [], silent: [] }
    states.set(address, state)
    placeOf(state, finding).push(list)
  }
  return states
}

function placeOf({ listed, clear, silent }: ListState, { status }: Finding): string[] {
  if (status === 'ok') return clear
  return status === 'unknown' ? silent : listed
}
