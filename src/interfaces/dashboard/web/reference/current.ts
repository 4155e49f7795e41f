/** The operation that the address names, which the side bar marks. */
import { signal } from '@preact/signals'

export const current = signal(location.hash.slice(1))

addEventListener('hashchange', () => {
  current.value = location.hash.slice(1)
})

/** Names an operation that was opened in the address, so that it can be shared. */
export function select(operationId: string): void {
  if (current.value === operationId) return
  current.value = operationId
  history.replaceState(history.state, '', `#${operationId}`)
}
