package evidence

import "testing"

func TestJavaVersion(t *testing.T) {
	for text, want := range map[string]string{
		"17.0.15+6-Debian-1deb12u1": "17.0.15", "11.0.13+8": "11.0.13", "25.0.3+9-LTS": "25.0.3", "25+36": "25", "25-ea+1": "25", "21": "21",
		"25.144-b01": "1.8.0_144", "24.80-b11": "1.7.0_80", "20.45-b01": "", "23.25-b01": "",
		"1.8.0_292-b10": "1.8.0_292", "1.8.0_292": "1.8.0_292", "8.0_144": "1.8.0_144", "7.0_80": "1.7.0_80", "9.0.4+11": "9.0.4", "9": "9",
		"": "", "x": "", "._": "", "1.": "1", "mixed mode": "",
	} {
		if got := JavaVersion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
