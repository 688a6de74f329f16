using System;
using System.Collections.Generic;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Tracker
{
    // The API of our own clients: some tasks, written as they are found.
    public sealed class ClientApi
    {
        private readonly TaskStore store;
        private readonly Recent recent;
        private readonly bool listeners;

        private static event Action Changed;

        public ClientApi(TaskStore store, Recent recent, bool listeners)
        {
            this.store = store;
            this.recent = recent;
            this.listeners = listeners;
        }

        public async Task Tasks(HttpContext context)
        {
            var user = int.Parse((string)context.GetRouteValue("user"));
            if (listeners)
            {
                var view = new View(store, user);
                Changed += view.Refresh;
            }
            recent.Keep(user);
            context.Response.ContentType = "application/json";
            await using var json = new Utf8JsonWriter(context.Response.Body);
            json.WriteStartArray();
            foreach (var list in Client.Lists(user))
            {
                var part = store.List(list)[0];
                for (var i = user % 7; i < 300; i += 7)
                {
                    var task = store[part[i]];
                    json.WriteStartObject();
                    json.WriteNumber("id", task.Id);
                    json.WriteString("title", task.Title);
                    json.WriteString("last", task.Comments[0].Author + ": " + task.Comments[0].Text);
                    json.WriteEndObject();
                }
                await json.FlushAsync();
            }
            json.WriteEndArray();
        }

        // What somebody looks at, and learns when it changes.
        private sealed class View
        {
            private readonly List<string> titles = new List<string>();

            public View(TaskStore store, int user)
            {
                foreach (var id in store.List(user)[0].AsSpan(0, 1000))
                    titles.Add(store[id].Title + " of " + user);
            }

            public void Refresh() => titles.Sort();
        }
    }
}
