using System;
using System.Collections.Generic;
using System.IO;
using System.Text.Json;
using System.Threading.Tasks;
using System.Xml;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Unstall.Collections;

namespace Tracker
{
    // The public API: a client's cache as JSON, as base64 in an element of XML.
    public sealed class PublicApi
    {
        private readonly IClientCaches caches;
        private readonly IAnswers answers;
        private readonly TaskStore store;

        public PublicApi(IClientCaches caches, IAnswers answers, TaskStore store)
        {
            this.caches = caches;
            this.answers = answers;
            this.store = store;
        }

        public Task ClientCache(HttpContext context)
        {
            var user = int.Parse((string)context.GetRouteValue("user"));
            var ids = caches.Compute(user);
            context.Response.ContentType = "application/xml";
            return answers.Write(context.Response, user, ids);
        }
    }

    // How an answer is made.
    public interface IAnswers
    {
        Task Write(HttpResponse response, int user, IReadOnlyList<int> ids);
    }

    // The JSON whole, then the XML around its base64, whole again.
    public sealed class BufferedAnswers : IAnswers
    {
        public async Task Write(HttpResponse response, int user, IReadOnlyList<int> ids)
        {
            var json = ToJson(user, ids);
            using (var answer = new MemoryStream())
            {
                using (var xml = XmlWriter.Create(answer, Xml.Settings))
                {
                    xml.WriteStartElement("cache");
                    xml.WriteBase64(json, 0, json.Length);
                    xml.WriteEndElement();
                }
                response.ContentLength = answer.Length;
                answer.Position = 0;
                await answer.CopyToAsync(response.Body);
            }
        }

        private static byte[] ToJson(int user, IReadOnlyList<int> ids)
        {
            using (var buffer = new MemoryStream())
            {
                using (var json = new Utf8JsonWriter(buffer))
                    Json.Write(json, user, ids);
                return buffer.ToArray();
            }
        }
    }

    // The JSON goes into the base64, that into the XML, and that to the client, as it is made.
    public sealed class StreamedAnswers : IAnswers
    {
        private const int Portion = 500; // ids

        public async Task Write(HttpResponse response, int user, IReadOnlyList<int> ids)
        {
            var xml = XmlWriter.Create(response.Body, Xml.Asynchronous); // Dispose would flush synchronously
            await xml.WriteStartElementAsync(null, "cache", null);
            await using (var base64 = new Base64Stream(xml))
            await using (var json = new Utf8JsonWriter(base64))
            {
                Json.Begin(json, user);
                for (var i = 0; i < ids.Count; i++)
                {
                    json.WriteNumberValue(ids[i]);
                    if (i % Portion == 0)
                        await json.FlushAsync();
                }
                Json.End(json);
                await json.FlushAsync();
            }
            await xml.WriteEndElementAsync();
            await xml.FlushAsync();
        }
    }

    public static class Json
    {
        public static void Begin(Utf8JsonWriter json, int user)
        {
            json.WriteStartObject();
            json.WriteNumber("user", user);
            json.WriteStartArray("tasks");
        }

        public static void End(Utf8JsonWriter json)
        {
            json.WriteEndArray();
            json.WriteEndObject();
        }

        public static void Write(Utf8JsonWriter json, int user, IReadOnlyList<int> ids)
        {
            Begin(json, user);
            for (var i = 0; i < ids.Count; i++)
            {
                json.WriteNumberValue(ids[i]);
                if (json.BytesPending > 16_000)
                    json.Flush();
            }
            End(json);
        }
    }

    public static class Xml
    {
        public static readonly XmlWriterSettings Settings = new XmlWriterSettings { CloseOutput = false };
        public static readonly XmlWriterSettings Asynchronous = new XmlWriterSettings { CloseOutput = false, Async = true };
    }
}
