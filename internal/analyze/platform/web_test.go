package platform

import "testing"

func TestPHPFPM(t *testing.T) {
	for name, want := range map[string]string{"php-fpm": "", "php-fpm8.2": "8.2", "php7.4-fpm": "7.4", "php-fpm83": "83"} {
		if got, ok := matchPHPFPM(name); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"php", "php8.2", "php-cgi", "php-fpm_exporter", "php-fpm-exporter", "phpx-fpm", "nginx"} {
		if _, ok := matchPHPFPM(name); ok {
			t.Errorf("%s is taken for it", name)
		}
	}
}
