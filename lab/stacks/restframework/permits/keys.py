from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from .models import Key


class KeyAuthentication(BaseAuthentication):
    """Takes the key of an office from a header, and notes when it was used last."""

    def authenticate(self, request):
        secret = request.headers.get("X-Key", "")
        if not Key.objects.filter(secret=secret).update(last_used=timezone.now()):
            raise AuthenticationFailed("unknown key")
        return None, secret
