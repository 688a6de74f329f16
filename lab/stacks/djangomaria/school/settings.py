import os

import pymysql

pymysql.install_as_MySQLdb()

SECRET_KEY = "of a school that nobody reaches"
DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = ["school"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "school.urls"
USE_TZ = True
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
host, port = os.environ["ADDR_DB"].split(":")
DATABASES = {"default": {"ENGINE": "django.db.backends.mysql", "NAME": "shop", "USER": "shop", "HOST": host, "PORT": port, "CONN_MAX_AGE": 600}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://" + os.environ["ADDR_REDIS"]}}
