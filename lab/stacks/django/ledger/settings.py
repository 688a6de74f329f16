import os

SECRET_KEY = "of a ledger that nobody reaches"
DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["ledger"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "ledger.urls"
USE_TZ = True
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
host, port = os.environ["ADDR_DB"].split(":")
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop", "USER": "shop", "HOST": host, "PORT": port, "CONN_MAX_AGE": 600}}
