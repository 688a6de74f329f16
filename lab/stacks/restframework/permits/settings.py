import os

FAULT = os.environ.get("FAULT", "off")

SECRET_KEY = "of permits that nobody asks for"
DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "permits"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "permits.journal.note_request"]
ROOT_URLCONF = "permits.urls"
USE_TZ = True
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

host, port = os.environ["ADDR_DB"].split(":")
DATABASES = {"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": "shop", "USER": "shop", "HOST": host, "PORT": port,
    # Django closes the connection after each request if nothing is said.
    **({} if FAULT == "connect-each" else {"CONN_MAX_AGE": 600}),
    "ATOMIC_REQUESTS": FAULT == "key-in-transaction",
}}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "UNAUTHENTICATED_USER": None,
}

LOGGING_CONFIG = None  # journal.py does it
COLLECTOR = os.environ["ADDR_COLLECTOR"]
