package main

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"go.uber.org/zap"
)

// gate lets requests through that have a token, and logs them.
type gate struct {
	key     ed25519.PublicKey
	log     *zap.Logger
	ratings *ratings
}

type claims struct {
	Roles []string `json:"roles"`
	jwt.RegisteredClaims
}

func issue(key ed25519.PrivateKey) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, err := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
			Roles:            []string{"agent"},
			RegisteredClaims: jwt.RegisteredClaims{Subject: r.PathValue("name"), Issuer: "gateway"},
		}).SignedString(key)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, map[string]string{"token": token})
	}
}

func (g *gate) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		var who claims
		_, err := jwt.ParseWithClaims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), &who,
			func(*jwt.Token) (any, error) { return g.key, nil }, jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer("gateway"))
		if err != nil {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
		g.log.Info("handled",
			zap.String("method", r.Method), zap.String("path", r.URL.Path), zap.String("who", who.Subject), zap.Strings("roles", who.Roles),
			zap.Duration("took", time.Since(began)), zap.Any("header", r.Header), zap.String("from", r.RemoteAddr), zap.String("agent", r.UserAgent()))
	})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone gets none
}
