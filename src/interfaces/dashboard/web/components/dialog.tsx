/** Modal dialogs: forms and confirmations. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, call } from '../api/client.ts'
import { Button, Copy } from './controls.tsx'
import { type Draft, DraftNotice } from './draft.tsx'
import { Failure, Note, say } from './feedback.tsx'

interface DialogProps {
  title: string
  wide?: boolean
  /** The content is shown only once, so only a button closes the dialog. */
  isOnce?: boolean
  onClose: () => void
  children: ComponentChildren
}

/** Keeps the keyboard inside, and closes by Escape or a click beside it. */
export function Dialog({ title, wide, isOnce, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current!
    dialog.showModal()
    focusIn(dialog)
    return () => dialog.close()
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'is-wide' : ''}
      aria-label={title}
      closedby={isOnce ? 'none' : 'closerequest'}
      onCancel={event => {
        event.preventDefault()
        if (!isOnce) onClose()
      }}
      onClose={() => {
        // a browser without `closedby` closes the dialog at the second Escape, whatever `cancel` is answered
        if (isOnce && ref.current?.isConnected) ref.current.showModal()
      }}
      onMouseDown={event => !isOnce && event.target === ref.current && onClose()}
    >
      <div class="card-head">
        <h2>{title}</h2>
        <Button small kind="plain" icon="cross" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  )
}

/** Elements that a dialog begins with, by preference: a field, a secret to copy, the safe button. */
const FIRST = [
  '.dialog-body :is(input, select, textarea)',
  '.dialog-body .secret button',
  '.dialog-acts button',
]

/** Focuses the first field or the safe choice, unless the browser has focused what asks for it. */
function focusIn(dialog: HTMLDialogElement): void {
  if (dialog.querySelector('[autofocus]')) return
  for (const selector of FIRST)
    for (const element of dialog.querySelectorAll<HTMLElement>(selector)) {
      element.focus()
      if (document.activeElement === element) return
    }
}

interface FormDialogProps {
  title: string
  /** What the button says. */
  act: string
  /** What the button says that closes the form. */
  dismiss?: string
  bad?: boolean
  wide?: boolean
  disabled?: boolean
  /** The form's contents: kept when it is closed, dropped once it was submitted. */
  draft?: Draft
  onClose: () => void
  /** @throws ApiError, which is shown */
  onSubmit: () => Promise<void>
  children: (error: ApiError | undefined) => ComponentChildren
}

/** Shows a form that stays open until its request succeeds, and shows the error when it fails. */
export function FormDialog({
  title,
  act,
  dismiss = 'Cancel',
  bad,
  wide,
  disabled,
  draft,
  onClose,
  onSubmit,
  children,
}: FormDialogProps) {
  const { error, isBusy, run } = useAct(async () => {
    await onSubmit()
    draft?.discard()
  })
  const close = () => {
    if (draft?.isChanged) say('Not saved. Your changes are kept and restored when you open this form again.')
    onClose()
  }
  const form = useRef<HTMLFormElement>(null)
  // the error may be out of view above a long form
  useEffect(() => {
    if (error) form.current?.querySelector('.fault, [role="alert"]')?.scrollIntoView({ block: 'center' })
  }, [error])
  return (
    <Dialog title={title} onClose={close} {...(wide && { wide })}>
      <form
        ref={form}
        onSubmit={event => {
          event.preventDefault()
          void run()
        }}
      >
        <div class="dialog-body">
          {draft && <DraftNotice draft={draft} />}
          {children(error)}
          {error && !error.isShown && <Failure error={error} />}
        </div>
        <div class="dialog-acts">
          <Button onClick={close}>{dismiss}</Button>
          <Button type="submit" kind={bad ? 'bad' : 'main'} disabled={isBusy || disabled}>
            {isBusy ? 'Please wait …' : act}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Returns an action that can fail, with its error and busy state. */
export function useAct(work: () => Promise<void>) {
  const [error, setError] = useState<ApiError>()
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return { error, isBusy, run }
}

/** Returns a change that is made at once, as by a switch. */
export function useChange<T>(work: (change: T) => Promise<void>) {
  const [error, setError] = useState<ApiError>()
  const act = (change: T) => {
    setError(undefined)
    work(change).catch((failure: unknown) => {
      if (!(failure instanceof ApiError)) throw failure
      setError(failure)
    })
  }
  return { error, act }
}

interface Question {
  title: string
  text: ComponentChildren
  act: string
  /** The action can be undone. */
  harmless?: boolean
  work: () => Promise<void>
}

const question = signal<Question | null>(null)

/** Asks for confirmation. */
export function confirm(asked: Question): void {
  question.value = asked
}

interface Removal {
  /** Name of the resource; without one it is called `this webhook`. */
  name?: string
  path: string
  text: string
  said?: string
  onRemoved: () => void
}

/**
 * Asks for confirmation, then deletes a resource.
 *
 * @param noun kind of the resource, such as `webhook`
 */
export function confirmRemoval(
  noun: string,
  { name = `this ${noun}`, path, text, said = `The ${noun} was deleted.`, onRemoved }: Removal,
): void {
  confirm({
    title: `Delete ${name}?`,
    text,
    act: `Delete ${noun}`,
    async work() {
      await call('DELETE', path)
      say(said)
      onRemoved()
    },
  })
}

export function Confirmation() {
  const asked = question.value
  if (!asked) return null
  const close = () => {
    question.value = null
  }
  return (
    <FormDialog
      title={asked.title}
      act={asked.act}
      dismiss={asked.act.startsWith('Cancel') ? 'Go back' : 'Cancel'}
      bad={!asked.harmless}
      onClose={close}
      onSubmit={async () => {
        await asked.work()
        close()
      }}
    >
      {() => <p>{asked.text}</p>}
    </FormDialog>
  )
}

interface ShownOnceProps {
  title: string
  wide?: boolean
  /** What the secret is, such as `API key`. */
  what: string
  secret: string
  /** What to do with the secret, as a sentence. */
  advice?: string
  /** Label of the button that closes the dialog. */
  act?: string
  children?: ComponentChildren
  onClose: () => void
}

/** Shows a secret that cannot be shown again. The children are examples of its use. */
export function ShownOnce({ title, wide, what, secret, advice, act, children, onClose }: ShownOnceProps) {
  return (
    <Dialog title={title} wide={wide ?? false} isOnce onClose={onClose}>
      <div class="dialog-body">
        <Note tone="warn">
          <p>
            <b>Copy it now.</b> The {what} is shown only once. {advice}
          </p>
        </Note>
        <div class="secret">
          <Copy text={secret} label={`Copy ${what}`} />
        </div>
        {children}
      </div>
      <div class="dialog-acts">
        <Button kind="main" onClick={onClose}>
          {act ?? 'I have saved it'}
        </Button>
      </div>
    </Dialog>
  )
}
