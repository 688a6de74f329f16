export const fault = (name: string) => process.env.FAULT === name;
