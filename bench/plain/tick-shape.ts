export function keepTickShape(): void {}
