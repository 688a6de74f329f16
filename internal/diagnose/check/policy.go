package check

// States of a [Verdict].
const (
	Supported    = "supported"
	RuledOut     = "ruled_out"
	Inconclusive = "inconclusive"
)

// Question is a question of the policy. Every check asks the questions in this order, and one of them decides.
type Question string

// The questions.
const (
	AskEvidence  Question = "enough evidence?"
	AskCovered   Question = "covered?"
	AskSlow      Question = "slow and noticed?"
	AskMaterial  Question = "material?"
	AskExplained Question = "explained by another?"
	AskHolders   Question = "what do holders do?"
)

// Questions are all questions in order.
var Questions = []Question{AskEvidence, AskCovered, AskSlow, AskMaterial, AskExplained, AskHolders}

// Asks describes a question.
func (q Question) Asks() string {
	switch q {
	case AskEvidence:
		return "was what would show it recorded, and enough of it for a share, a rate or a trend?"
	case AskCovered:
		return "do the figures speak for the slow requests, or was too much of their time not seen?"
	case AskSlow:
		return "are requests slow, often enough to look for a reason and long enough to be noticed?"
	case AskMaterial:
		return "is its part large enough to be worth mending?"
	case AskExplained:
		return "does another cause make it?"
	case AskHolders:
		return "do those that hold what requests wait for run, or wait themselves?"
	}
	return ""
}

// Rule is a row of the policy: an answer to one of the questions, with its consequence. Checks find answers; only the rules say what is
// supported, left open or ruled out.
type Rule struct {
	Answer   string // closed list, never renamed: "not_recorded"
	Question Question
	State    string // the consequence: supported, inconclusive (left open), ruled_out
	Says     string
	Changes  string // what would give another verdict, where no figure tells
}

// The rules. A check sets a verdict's Rule to one of them.
var (
	NotRecorded   = Rule{"not_recorded", AskEvidence, Inconclusive, "what would show it was not recorded", "a recording that shows it"}
	TooFew        = Rule{"too_few", AskEvidence, Inconclusive, "too little was recorded for a share, a rate or a trend", "a longer recording"}
	OneLook       = Rule{"one_look", AskEvidence, Inconclusive, "a single reading does not show how often it is so", "more readings, some time apart"}
	Untold        = Rule{"untold", AskEvidence, Inconclusive, "the evidence shows something, but not what it was", "evidence of what it was"}
	Contradictory = Rule{"contradictory", AskEvidence, Inconclusive, "two sources contradict each other", "sources of the same process and time that agree"}
	Absent        = Rule{"absent", AskEvidence, RuledOut, "it was looked for, and there is none of it", "a recording that has some of it"}

	Unseen      = Rule{"unseen", AskCovered, Inconclusive, "as much was not seen as would be material", "a recording that shows more of the slow time"}
	Withheld    = Rule{"withheld", AskCovered, Inconclusive, "the host or a quota did not run the process, so that its own figures say little", "the same recording while the process gets the CPUs it needs"}
	CostUnknown = Rule{"cost_unknown", AskCovered, Inconclusive, "it happens; what it costs requests was not recorded", "requests recorded at the same time, with what each of them waited for"}

	NotSlow    = Rule{"not_slow", AskSlow, RuledOut, "almost no requests are slow", "slow requests, or a limit (--slo) that makes them slow"}
	Brief      = Rule{"brief", AskSlow, RuledOut, "slow requests take only milliseconds", "longer requests, or a limit (--slo)"}
	Unnoticed  = Rule{"unnoticed", AskSlow, Inconclusive, "it is material, but slow requests take only milliseconds: a limit (--slo) would decide", "a limit (--slo)"}
	OutOfSight = Rule{"out_of_sight", AskSlow, Supported, "requests wait before the service counts them, so that its own figures cannot clear it", "requests as clients saw them"}

	TooLittle   = Rule{"too_little", AskMaterial, RuledOut, "its part is below the threshold", "a larger part"}
	Usual       = Rule{"usual", AskMaterial, RuledOut, "requests that are not slow have as much of it", "requests that are not slow and have less of it"}
	OnTheEdge   = Rule{"on_the_edge", AskMaterial, Inconclusive, "just below the threshold: another recording may find it above", "another recording, or a longer one"}
	Happens     = Rule{"happens", AskMaterial, Inconclusive, "it happens, but its part of slow time is below the threshold in this recording", "a recording in which slow requests have more of it"}
	Anything    = Rule{"anything", AskMaterial, Inconclusive, "by its interval its share may be anything between 0 and 100 %", "more slow requests"}
	ByDesign    = Rule{"by_design", AskMaterial, Inconclusive, "it may be so by design", "a limit (--slo), or the same at another load"}
	PartOfAll   = Rule{"part_of_all", AskMaterial, Inconclusive, "it is material only together with other pauses, and these have more", "a larger part in all pauses"}
	Largest     = Rule{"largest", AskMaterial, Supported, "all pauses are material together, and it has the largest part", "a smaller part in all pauses"}
	Matters     = Rule{"matters", AskMaterial, Supported, "its part is at or above the threshold", "a smaller part"}
	StandsAlone = Rule{"stands_alone", AskMaterial, Supported, "a single sight of it is enough, however rare it is", "a recording without it"}

	Explained       = Rule{"explained", AskExplained, RuledOut, "something else explains it", "a recording without what explains it"}
	PartlyExplained = Rule{"partly_explained", AskExplained, Inconclusive, "something else explains a part; what is left is unknown", "a recording without what explains a part"}

	TakeTurns   = Rule{"take_turns", AskHolders, RuledOut, "the holder waits for work: threads take turns, and nothing is delayed", "a holder that works while others wait"}
	HoldersWait = Rule{"holders_wait", AskHolders, RuledOut, "holders wait for something else, which is the cause", "holders that run, or wait for nothing else"}
	NotServing  = Rule{"not_serving", AskHolders, Inconclusive, "those that wait serve no requests", "requests that wait there"}
)

// Policy lists the rules in the order of the questions; docs/policy.md prints it.
var Policy = []Rule{NotRecorded, TooFew, OneLook, Untold, Contradictory, Absent, Unseen, Withheld, CostUnknown, NotSlow, Brief, Unnoticed, OutOfSight,
	TooLittle, Usual, OnTheEdge, Happens, Anything, ByDesign, PartOfAll, Largest, Matters, StandsAlone, Explained, PartlyExplained, TakeTurns, HoldersWait, NotServing}

// Supported reports whether the cause is found.
func (r Rule) Supported() bool { return r.State == Supported }

// RuledOut reports whether the cause is cleared.
func (r Rule) RuledOut() bool { return r.State == RuledOut }

// LeftOpen reports whether the evidence does not decide.
func (r Rule) LeftOpen() bool { return r.State == Inconclusive }
