package linux

// pollNumber is that of poll(2), which newer architectures do not have.
const pollNumber = "7"
