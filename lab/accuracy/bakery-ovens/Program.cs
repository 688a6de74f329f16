using System;
using System.Net;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace BakeryOvens
{
    // Says when the bread in an oven is done (HttpListener, a task for each request). An
    // oven is looked at every few milliseconds until it is warm, and between the looks the
    // thread sleeps. With FAULT=0 it is given back in between.
    public static class Program
    {
        static readonly bool Sleeps = Environment.GetEnvironmentVariable("FAULT") != "0";

        public static async Task Main()
        {
            var listener = new HttpListener();
            listener.Prefixes.Add("http://" + Environment.GetEnvironmentVariable("ADDR") + "/");
            listener.Start();
            while (listener.IsListening)
            {
                HttpListenerContext context = await listener.GetContextAsync();
                _ = Task.Run(() => Answer(context));
            }
        }

        static async Task Answer(HttpListenerContext context)
        {
            try
            {
                var oven = new Oven(context.Request.Url.AbsolutePath);
                if (Sleeps)
                    oven.WaitUntilWarm();
                else
                    await oven.WhenWarm();
                byte[] text = Encoding.UTF8.GetBytes("{\"oven\":\"" + oven.Name + "\",\"degrees\":" + oven.Degrees + "}");
                context.Response.ContentType = "application/json";
                context.Response.ContentLength64 = text.Length;
                await context.Response.OutputStream.WriteAsync(text, 0, text.Length);
                context.Response.Close();
            }
            catch (Exception)
            {
                context.Response.Abort(); // the client is gone
            }
        }
    }

    // An oven takes 75 ms to be warm.
    public sealed class Oven
    {
        readonly DateTime warm = DateTime.UtcNow.AddMilliseconds(75);

        public Oven(string path) => Name = path.Trim('/');

        public string Name { get; }

        public int Degrees => DateTime.UtcNow >= warm ? 230 : 90;

        public void WaitUntilWarm()
        {
            while (Degrees < 200)
                Thread.Sleep(25);
        }

        public async Task WhenWarm()
        {
            while (Degrees < 200)
                await Task.Delay(25);
        }
    }
}
