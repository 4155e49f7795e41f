/** Italian texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const it: PageTexts = {
  sender: name => name ?? 'questo mittente',
  emailsFrom: sender => `Email da ${sender}`,
  emailsAbout: topic => `Email su ${topic}`,
  receives: (address, sender) => `Ricevi email da ${sender} all’indirizzo ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Ricevi email su ${topic} da ${sender} all’indirizzo ${address}.`,
  leftAll: (address, sender) => `L’iscrizione di ${address} a tutte le email da ${sender} è annullata.`,
  leftTopic: (address, topic) => `L’iscrizione di ${address} alle email su ${topic} è annullata.`,
  saved: 'Le tue preferenze sono state salvate.',
  subscribedAgain: 'La tua iscrizione è di nuovo attiva.',
  leaveTopic: topic => `Annulla l’iscrizione a ${topic}`,
  leaveAll: 'Annulla l’iscrizione a tutte le email',
  subscribeAgain: 'Iscriviti di nuovo',
  save: 'Salva',
  chooseTopics: 'Oppure scegli gli argomenti',
  selectToReturn:
    'Seleziona gli argomenti a cui iscriverti. Senza alcuna selezione l’iscrizione resta annullata.',
  from: 'Da',
  to: 'A',
  cc: 'Cc',
  date: 'Data',
  email: 'L’email',
  brokenLink: 'Questo link non funziona',
  brokenLinkHint: 'Potrebbe essere stato troncato o modificato. Aprilo di nuovo dall’email.',
  emailGone: 'Questa email non è più disponibile',
  emailGoneHint:
    'Le email si possono leggere nel browser per un periodo limitato. Forse è ancora nella tua casella di posta.',
}
