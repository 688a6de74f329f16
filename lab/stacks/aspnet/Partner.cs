using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;

namespace Shop
{
    // The partner who makes offers. He allows so many calls at a time.
    public sealed class Partner
    {
        private static readonly SemaphoreSlim Allowed = new SemaphoreSlim(Program.Has("semaphore") ? 2 : 32);
        private readonly HttpClient http;

        public Partner(HttpClient http) => this.http = http;

        public async Task<string> Offer(int product)
        {
            await Allowed.WaitAsync();
            try
            {
                return await http.GetStringAsync("/offers/" + product);
            }
            finally
            {
                Allowed.Release();
            }
        }
    }
}
