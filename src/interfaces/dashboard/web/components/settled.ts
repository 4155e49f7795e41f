/** Values that are used after a pause in typing. */
import { useEffect, useState } from 'preact/hooks'

/** Returns the value as it was when it had not changed for so long. */
export function useSettled<T>(value: T, pauseMs: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
