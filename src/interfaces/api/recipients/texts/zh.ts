/** Chinese (simplified) texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const zh: PageTexts = {
  sender: name => name ?? '此发件人',
  emailsFrom: sender => `来自 ${sender} 的邮件`,
  emailsAbout: topic => `关于“${topic}”的邮件`,
  receives: (address, sender) => `您的地址 ${address} 会收到来自 ${sender} 的邮件。`,
  receivesAbout: (address, sender, topic) =>
    `您的地址 ${address} 会收到来自 ${sender} 的关于“${topic}”的邮件。`,
  leftAll: (address, sender) => `${address} 已退订来自 ${sender} 的所有邮件。`,
  leftTopic: (address, topic) => `${address} 已退订关于“${topic}”的邮件。`,
  saved: '您的偏好设置已保存。',
  subscribedAgain: '您已重新订阅。',
  leaveTopic: topic => `退订“${topic}”`,
  leaveAll: '退订所有邮件',
  subscribeAgain: '重新订阅',
  save: '保存',
  chooseTopics: '或选择您感兴趣的主题',
  selectToReturn: '请选择要订阅的主题。如果不选择，您将保持退订状态。',
  from: '发件人',
  to: '收件人',
  cc: '抄送',
  date: '日期',
  email: '邮件正文',
  brokenLink: '此链接无效',
  brokenLinkHint: '链接可能被截断或更改。请从邮件中重新打开。',
  emailGone: '此邮件已无法查看',
  emailGoneHint: '邮件只能在浏览器中查看一段时间。它可能仍在您的邮箱中。',
}
