import os

os.environ["DJANGO_SETTINGS_MODULE"] = "permits.settings"

from django.core.wsgi import get_wsgi_application  # noqa: E402

application = get_wsgi_application()

from . import journal  # noqa: E402

journal.start()
