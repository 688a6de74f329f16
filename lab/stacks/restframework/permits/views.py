import os

import requests
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.response import Response
from rest_framework.views import APIView

from .keys import KeyAuthentication
from .models import Permit

registry = requests.Session()
registry.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=24))


class PermitSerializer(serializers.ModelSerializer):
    class Meta:
        model = Permit
        fields = ["id", "house", "kind", "state", "fee_cents", "filed_at"]


class PermitView(RetrieveAPIView):
    queryset = Permit.objects.all()
    serializer_class = PermitSerializer


class HouseView(ListAPIView):
    """The latest permits of a house."""

    serializer_class = PermitSerializer

    def get_queryset(self):
        return Permit.objects.filter(house=f"House {self.kwargs['house']}").order_by("-id")[:10]


class OwnerView(APIView):
    """Asks the land registry for the owner of a house, for an office with a key."""

    authentication_classes = [KeyAuthentication]

    def get(self, request, house):
        answer = registry.get(f"http://{os.environ['ADDR_REGISTRY']}/houses/{house}/owner", timeout=20)
        return Response({"house": house, "owner": answer.json()["receipt"]})
